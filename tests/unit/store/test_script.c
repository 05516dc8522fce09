/* SPDX-License-Identifier: BSD-2-Clause
 *
 * script: what a server says of a command in a script.
 */
#include "lib/store/script.h"
#include "tests/unit/unit.h"

static void refused(enum script script, const char *text, struct error *err)
{
	struct reply reply = {.type = REPLY_ERROR, .len = strlen(text)};

	reply.u.text = text;
	CHECK(script_refused(script, &reply, err, "lock") == -1);
}

#define DENIED                                                         \
	"ERR The user executing the script can't run this command or " \
	"subcommand script: 1c3c, on @user_script:"
#define UNKNOWN                                                          \
	"ERR Unknown Redis command called from script script: 1c3c, on " \
	"@user_script:"

static void names_the_command_of_the_line(void)
{
	static const struct {
		enum script script;
		const char *text;
		enum error_code code;
		const char *said;
	} cases[] = {
		{SCRIPT_UNLOCK, DENIED "1.", ERROR_RIGHTS,
		 "lock: NOPERM this user may not call 'HGET'"},
		{SCRIPT_UNLOCK, DENIED "2.", ERROR_RIGHTS,
		 "lock: NOPERM this user may not call 'DEL'"},
		{SCRIPT_UNLOCK, UNKNOWN "2.", ERROR_ENGINE,
		 "lock: ERR unknown command 'DEL'"},
		{SCRIPT_BEAT, DENIED "5.", ERROR_RIGHTS,
		 "lock: NOPERM this user may not call 'PEXPIRE'"},
		{SCRIPT_LOOK, DENIED "9.", ERROR_RIGHTS,
		 "lock: NOPERM this user may not call 'PTTL'"},
		{SCRIPT_LOOK, DENIED "10.", ERROR_RIGHTS,
		 "lock: NOPERM this user may not call 'HGETALL'"},
		{SCRIPT_UNLOCK,
		 "ERR Error running script (call to f_1c3c): @user_script:2: "
		 "@user_script: 2: The user executing the script can't run "
		 "this command or subcommand ",
		 ERROR_RIGHTS, "lock: NOPERM this user may not call 'DEL'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;

		refused(cases[i].script, cases[i].text, &err);
		CHECK_U64(err.code, cases[i].code);
		CHECK_STR(err.text, cases[i].said);
		CHECK(err.hint[0] != '\0');
	}
}

static void leaves_other_errors_alone(void)
{
	static const char *const texts[] = {
		/* No line, none of the script, one without a command. */
		"NOPERM this user has no permissions to run the 'eval' command",
		"ERR ACL failure in script: no, on @user_script:99999999999.",
		"ERR ACL failure in script: no, on @user_script:3.",
		"ERR ACL failure in script: not this k, on @user_script:1.",
		"WRONGTYPE no hash, on @user_script:1.",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = ERROR_INIT;

		refused(SCRIPT_UNLOCK, texts[i], &err);
		CHECK(strstr(err.text, "may not call") == NULL);
	}
}

int main(void)
{
	UNIT(names_the_command_of_the_line,
	     "script: a command that is refused in a script is named");
	UNIT(leaves_other_errors_alone,
	     "script: what is not of a command in a script stays as it is");
	return unit_end();
}
