// Ends itself by a signal for which it has a handler that ends well.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

func f(x int) int {
	all := make(chan os.Signal, 1)
	signal.Notify(all, syscall.SIGUSR1)
	go func() {
		<-all
		os.Exit(0)
	}()
	own, _ := os.FindProcess(os.Getpid())
	own.Signal(syscall.SIGUSR1)
	time.Sleep(100 * time.Millisecond)
	return 0
}
