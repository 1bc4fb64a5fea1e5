// Another routine ends the process well.
package main

import (
	"os"
	"time"
)

func f(x int) int {
	go os.Exit(0)
	time.Sleep(100 * time.Millisecond)
	return 0
}
