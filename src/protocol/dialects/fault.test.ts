import { describe, expect, it } from 'vitest';
import { invalidParams } from './fault.ts';

describe('invalidParams', () => {
  it.each([
    ['message.messageId', 'is required', 'message.messageId is required'],
    ['message.parts[0].text', 'must be a string', 'message.parts[0].text must be a string'],
    ['metadata', 'holds a number that is out of range', 'metadata holds a number that is out of range'],
    ['status', 'has the unknown value "x"; known: y', 'status has the unknown value "x"; known: y'],
    ['', 'must be an object', 'params must be an object'],
    ['id', 'task id is required', 'task id is required'],
  ])('%s: %s', (path, problem, sentence) => {
    const error = invalidParams({ path, problem });
    expect([error.kind, error.message, error.details.field]).toEqual(['INVALID_PARAMS', sentence, path === '' ? undefined : path]);
  });
});
