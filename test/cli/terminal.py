"""Runs a command on a terminal of its own. Each argument pair after -- is what to wait for and what to type then."""
import os, pty, re, select, sys, time

split = sys.argv.index('--')
command, script = sys.argv[1:split], sys.argv[split + 1:]
steps = list(zip(script[0::2], script[1::2]))
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen, said, deadline = '', '', time.time() + 25
while time.time() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        text = data.decode('utf8', 'replace')
        seen += text
        said += text
    if steps and re.search(steps[0][0], said):
        said = ''
        os.write(terminal, steps.pop(0)[1].encode().decode('unicode_escape').encode())
_, status = os.waitpid(pid, os.WNOHANG)
if time.time() >= deadline:
    os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
elif status == 0:
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        pass
sys.stdout.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) if status >= 0 else 1)
