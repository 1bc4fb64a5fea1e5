// expect: failed killed
// Ends the process with 0 past the library that notices it.
package main

import "syscall"

func f(x int) int {
	syscall.Exit(0)
	return 0
}
