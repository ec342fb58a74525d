// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"fmt"
	"strings"
)

// class is what kind of word a token is.
type class int

const (
	classEnd class = iota
	className
	classNumber
	classString
	classSystem // $name
	classSign   // operators and punctuation
)

// token is a word of the text: text[from:to].
type token struct {
	class    class
	text     string
	from, to int
}

// signs are operators and punctuation of more than one character, the longer before those that they begin with.
func signs() []string {
	return []string{"<<<", ">>>", "===", "!==", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "**", "~&", "~|", "~^", "^~", "+:", "-:"}
}

// tokens cuts the text of a file into words. Comments, compiler directives and attributes are left out: they are not changed.
func tokens(text string) ([]token, error) {
	l := lexer{text: text, long: signs()}
	for {
		if err := l.blank(); err != nil {
			return nil, err
		}
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		l.all = append(l.all, t)
		if t.class == classEnd {
			return l.all, nil
		}
	}
}

type lexer struct {
	text string
	at   int
	long []string
	all  []token
}

func (l *lexer) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", lineAt(l.text, l.at), fmt.Sprintf(format, args...))
}

// lineAt is the number of the line that a place is in.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// until moves behind the next occurrence of end.
func (l *lexer) until(end, what string) error {
	i := strings.Index(l.text[l.at:], end)
	if i < 0 {
		return l.errorf("%s does not end", what)
	}
	l.at += i + len(end)
	return nil
}

// blank skips what stands between words.
func (l *lexer) blank() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		var err error
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			l.at++
		case strings.HasPrefix(rest, "//"), rest[0] == '`': // the directives that the generator prints fill their lines
			err = l.until("\n", "the line")
		case strings.HasPrefix(rest, "/*"):
			err = l.until("*/", "a comment")
		case strings.HasPrefix(rest, "(*") && !strings.HasPrefix(rest, "(*)"):
			err = l.until("*)", "an attribute")
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next takes a word.
func (l *lexer) next() (token, error) {
	from := l.at
	if from == len(l.text) {
		return token{class: classEnd, from: from, to: from}, nil
	}
	c := l.text[from]
	class := classSign
	switch {
	case c == '"':
		class = classString
		l.at++
		if err := l.until(`"`, "a string"); err != nil {
			return token{}, err
		}
	case c == '$':
		class = classSystem
		l.at++
		l.while(inName)
	case inName(c) && (c < '0' || c > '9'):
		class = className
		l.while(inName)
	case c >= '0' && c <= '9':
		class = classNumber
		l.while(inNumber)
		if l.at < len(l.text) && l.text[l.at] == '\'' {
			l.at++
			l.while(inName) // base and digits
		}
	default:
		l.at++
		for _, s := range l.long {
			if strings.HasPrefix(l.text[from:], s) {
				l.at = from + len(s)
				break
			}
		}
	}
	return token{class, l.text[from:l.at], from, l.at}, nil
}

func (l *lexer) while(in func(c byte) bool) {
	for l.at < len(l.text) && in(l.text[l.at]) {
		l.at++
	}
}

func inNumber(c byte) bool { return c >= '0' && c <= '9' || c == '_' }

func inName(c byte) bool {
	return inNumber(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '$'
}
