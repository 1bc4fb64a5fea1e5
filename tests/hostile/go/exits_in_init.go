// expect: killed
// says: before TestDoubles was done
// Ends the process with 0 before any test begins.
package main

import "os"

func init() {
	os.Exit(0)
}

func f(x int) int {
	return 0
}
