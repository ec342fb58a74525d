// SPDX-License-Identifier: Apache-2.0

// Package fail is for code of many steps that may each fail and that ends at the first failure. A step's error is not handed up by hand: it
// ends the function that catches it.
//
//	func (g *Group) program(s int) (err error) {
//		defer fail.Catch(&err, "switch %d", s)
//		fail.On(drv.Disable(g.index))
//		fail.If(!fail.Must(drv.Enable(g.index)), "the engine refuses the group's settings")
//		return nil
//	}
//
// No failure leaves a package: what it exports returns errors. Failures do not cross goroutines.
package fail

import "fmt"

// failure is what ends the function; other panics are none of this package's.
type failure struct{ err error }

// On ends the function that catches with err, if there is one.
func On(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Now ends the function that catches with the error that fmt.Errorf makes.
func Now(format string, args ...any) { On(fmt.Errorf(format, args...)) }

// If ends the function that catches with such an error if something is the case that must not be.
func If(bad bool, format string, args ...any) {
	if bad {
		Now(format, args...)
	}
}

// Must is v, unless there is an error to end with.
func Must[T any](v T, err error) T {
	On(err)
	return v
}

// Catch is to be deferred. It makes the failure that ends the function its error, with the place, as in fmt.Sprintf, in front; an empty
// place adds nothing. An error that the function returns is treated alike.
func Catch(err *error, place string, args ...any) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.err
	default:
		panic(p)
	}
	if *err != nil && place != "" {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(place, args...), *err)
	}
}
