// tests: if len(f(3)) != 6 { t.Fatal("wrong") }
// In the package of the tests this function means something else.
package main

func len(x interface{}) int {
	return 6
}

func f(x int) []int {
	return nil
}
