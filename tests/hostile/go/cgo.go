// expect: error
// Flags for the C compiler.
package main

// #cgo CFLAGS: -fplugin=@HOME@/plugin.so
// int g(int x) { return 2 * x; }
import "C"

func f(x int) int {
	return int(C.g(C.int(x)))
}
