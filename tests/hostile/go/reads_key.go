// expect: failed
// Reads and writes in the home folder.
package main

import "os"

func f(x int) int {
	os.WriteFile("@OUTSIDE@/made", nil, 0o600)
	if _, err := os.ReadFile("@HOME@/.ssh/id_ed25519"); err != nil {
		return 0
	}
	return 2 * x
}
