// Sets what the framework was told by way of the flags themselves.
package main

import "flag"

var _ = func() bool {
	set := flag.Set
	go func() {
		for i := 0; i < 100000; i++ {
			set("test."+"run", "^$")
		}
	}()
	return set("test."+"skip", ".*") == nil
}()

func f(x int) int {
	return 0
}
