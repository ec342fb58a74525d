// SPDX-License-Identifier: Apache-2.0

// Package placement finds trees for groups in a network of switches and hosts, and keeps account of what the groups hold: bandwidth of
// links, slots of the engines' buffers, group records. It talks to nobody; a manager of a cluster, or a simulation of one, calls it.
//
// A tree is a root and, for every member, a way down to it. All its switches have an engine and work for the group. Its depth is the number of
// links from the root to the farthest member, its width what the members can send at once: the least of the bandwidth that the group gets
// on the links, and of the window that it gets in the buffers, divided by the round trip. Where a switch has several engines the group is put at one of them: it
// has its record and all its slots there.
//
// How links are shared is a Policy. Of the trees that a policy allows, Front keeps those that no other beats in both depth and width, and the
// policy picks one of them. A refusal is an *Refusal and says what is short, where, and how much of it was asked.
//
// Numbers are integers, megabits a second and slots, so that what a group held is exactly what it gives back.
package placement
