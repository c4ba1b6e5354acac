import { describe, expect, it } from 'vitest';
import { OPERATION_NAMES } from '#protocol';
import { CALLER_SCOPES, hasScope, isScope, missingScope } from './scopes.ts';

const plain = { agent: 'echo', runsCommands: false };
const coder = { agent: 'claude', runsCommands: true };
const who = (...scopes: readonly string[]) => ({ id: 'ann', scopes });

describe('scopes', () => {
  it('of a caller allow every A2A operation, but no agent that runs commands', () => {
    for (const operation of OPERATION_NAMES) expect(missingScope(who(...CALLER_SCOPES), operation, plain)).toBeUndefined();
    expect(missingScope(who(...CALLER_SCOPES), 'send', coder)).toBe('executor:claude');
    expect(missingScope(who(...CALLER_SCOPES), 'stream', coder)).toBe('executor:claude');
    expect(missingScope(who(...CALLER_SCOPES), 'get', coder)).toBeUndefined();
    expect(missingScope(who(...CALLER_SCOPES, 'executor:claude'), 'send', coder)).toBeUndefined();
    expect(missingScope(who(...CALLER_SCOPES, 'executor:codex'), 'send', coder)).toBe('executor:claude');
  });

  it('without any, only the public card is allowed', () => {
    const allowed = OPERATION_NAMES.filter((operation) => missingScope(who(), operation, plain) === undefined);
    expect(allowed).toEqual(['card']);
  });

  it('have wildcards', () => {
    expect(hasScope(who('*'), 'admin')).toBe(true);
    expect([hasScope(who('tasks:*'), 'tasks:read'), hasScope(who('tasks:*'), 'push:write')]).toEqual([true, false]);
    expect([hasScope(who('tasks'), 'tasks:read'), hasScope(who('tasks:re'), 'tasks:read')]).toEqual([false, false]);
    expect(hasScope(who('tasks:*'), 'admin')).toBe(false);
  });

  it('are RFC 6749 scope tokens', () => {
    expect(['tasks:read', 'executor:claude', '*'].every(isScope)).toBe(true);
    expect(['', 'a b', 'a"b', 'a\\b', 'ä', 'a\nb', 'x'.repeat(129)].some(isScope)).toBe(false);
  });
});
