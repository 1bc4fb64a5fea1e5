// Ends the routine that the test runs in.
package main

import "runtime"

func f(x int) int {
	runtime.Goexit()
	return 0
}
