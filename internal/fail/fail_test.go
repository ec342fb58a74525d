// SPDX-License-Identifier: Apache-2.0

package fail

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func twice(text string) (n int, err error) {
	defer Catch(&err, "twice %q", text)
	n = 2 * Must(strconv.Atoi(text))
	If(n > 10, "%d is much", n)
	return n, nil
}

func TestCatch(t *testing.T) {
	n, err := twice("4")
	assert.Equal(t, 8, n)
	assert.NoError(t, err)
	_, err = twice("x")
	assert.ErrorIs(t, err, strconv.ErrSyntax)
	assert.EqualError(t, err, `twice "x": strconv.Atoi: parsing "x": invalid syntax`)
	_, err = twice("6")
	assert.EqualError(t, err, `twice "6": 12 is much`)
}

// TestReturned: an error that is returned gets the place too, and an empty place adds nothing.
func TestReturned(t *testing.T) {
	bad := errors.New("bad")
	here := func() (err error) {
		defer Catch(&err, "here")
		return bad
	}
	assert.EqualError(t, here(), "here: bad")
	anywhere := func() (err error) {
		defer Catch(&err, "")
		return bad
	}
	assert.Equal(t, bad, anywhere())
}

// TestOtherPanics pass.
func TestOtherPanics(t *testing.T) {
	assert.PanicsWithValue(t, "else", func() {
		var err error
		defer Catch(&err, "")
		panic("else")
	})
}
