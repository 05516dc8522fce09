# SPDX-License-Identifier: BSD-2-Clause
#
# Lines of a key in hexadecimal and its filter, as columns 1 and 4 of
# `bloomctl key --stdin` are, become BF.MADD commands of 1000 keys each.  In the
# locale C, where a character is a byte.

function flush(f) {
	printf "*%d\r\n$7\r\nBF.MADD\r\n$%d\r\n%s\r\n%s", n[f] + 2, length(f),
		f, items[f]
	n[f] = 0
	items[f] = ""
}

function text(hex,    s, i) {
	s = ""
	for (i = 1; i < length(hex); i += 2)
		s = s char[substr(hex, i, 2)]
	return s
}

BEGIN {
	FS = "\t"
	for (i = 0; i < 256; i++)
		char[sprintf("%02x", i)] = sprintf("%c", i)
}

{
	key = text($1)
	items[$4] = items[$4] "$" length(key) "\r\n" key "\r\n"
	if (++n[$4] == 1000)
		flush($4)
}

END {
	for (f in n)
		if (n[f] > 0)
			flush(f)
}
