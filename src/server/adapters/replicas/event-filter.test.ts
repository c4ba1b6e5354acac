import { describe, expect, it } from 'vitest';
import { EventFilter } from './event-filter.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (id: number, data: string): string => `id: ${id}\ndata: ${data}\n\n`;

describe('a stream that another replica continues', () => {
  it('passes numbered events on, and leaves out what the caller has', () => {
    const filter = new EventFilter();
    expect(filter.pass(bytes(`retry: 20\n${event(1, 'a')}${event(2, 'b')}`))).toBe(`retry: 20\n${event(1, 'a')}${event(2, 'b')}`);
    filter.again();
    expect(filter.pass(bytes(`retry: 20\n: reset\n${event(1, 'a')}${event(2, 'b')}${event(3, 'c')}`))).toBe(event(3, 'c'));
    expect([filter.last, filter.canContinue]).toEqual([3, true]);
  });

  it('drops the part of an event that was cut off', () => {
    const filter = new EventFilter();
    expect(filter.pass(bytes(`${event(1, 'a')}id: 2\ndata: b`))).toBe(event(1, 'a'));
    filter.again();
    expect(filter.pass(bytes(event(2, 'bcd')))).toBe(event(2, 'bcd'));
  });

  it('keeps events of one number together', () => {
    const filter = new EventFilter();
    expect(filter.pass(bytes(event(1, 'a')))).toBe(event(1, 'a'));
    expect(filter.pass(bytes('data: first half\n\n'))).toBe('');
    filter.again();
    const both = `data: first half\n\n${event(2, 'second half')}`;
    expect(filter.pass(bytes(event(1, 'a') + both))).toBe(both);
  });

  it('drops the error of a replica that ends, and passes one on that is the end', () => {
    const filter = new EventFilter();
    filter.pass(bytes(event(1, 'a')));
    expect(filter.pass(bytes('data: error\n\n'))).toBe('');
    expect(filter.end()).toBe('data: error\n\n');
  });

  it('passes keep-alive comments on at once', () => {
    const filter = new EventFilter();
    filter.pass(bytes(event(1, 'a')));
    expect(filter.pass(bytes(': keep-alive\n'))).toBe(': keep-alive\n');
    filter.again();
    expect(filter.pass(bytes(': keep-alive\n'))).toBe(': keep-alive\n');
  });

  it('passes events without numbers on at once, and can not continue after them', () => {
    const filter = new EventFilter();
    expect(filter.pass(bytes('data: a\n\n'))).toBe('data: a\n\n');
    expect(filter.canContinue).toBe(false);
  });

  it('reads characters that are divided between two pieces', () => {
    const filter = new EventFilter();
    const whole = bytes(event(1, 'ä'));
    expect(filter.pass(whole.subarray(0, 13)) + filter.pass(whole.subarray(13))).toBe(event(1, 'ä'));
  });
});
