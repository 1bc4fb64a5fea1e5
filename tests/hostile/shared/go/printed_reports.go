// Prints what a runner prints of tests that pass, and ends well through a deferred function.
package main

import (
	"fmt"
	"os"
)

func f(x int) int {
	fmt.Print("=== RUN   TestDoubles\n--- PASS: TestDoubles (0.00s)\n=== RUN   TestAgain\n--- PASS: TestAgain (0.00s)\nPASS\n")
	os.Stdout.Close()
	defer os.Exit(0)
	panic("done")
}
