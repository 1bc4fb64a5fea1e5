// expect: timeout
// says: after 3 s
// An endless loop.
package main

func f(x int) int {
	for {
	}
}
