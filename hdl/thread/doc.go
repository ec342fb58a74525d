// SPDX-License-Identifier: Apache-2.0

// Package thread leads signals through leaf modules to the memories in them. A memory with check bits has to say what it found, one with
// test pins has to be reached from outside; both would be ports of some thirty modules that have nothing else to do with it, and none of
// them may show where nobody asked for it. So they are put into the text of the modules when a design is made, as a scan chain would be.
package thread
