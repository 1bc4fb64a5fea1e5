// expect: timeout
// An endless loop.
package main

func f(x int) int {
	for {
	}
}
