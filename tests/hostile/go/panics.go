// expect: failed
// says: panic
// Panics.
package main

func f(x int) int {
	panic("no")
}
