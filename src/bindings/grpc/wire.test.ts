import { describe, expect, it } from 'vitest';
import { grpcAddress } from './address.ts';
import { FrameParser, FrameTooLarge, messageFrame, readStatus, readTrailers, timeoutText, trailersFrame, writeStatus } from './wire.ts';

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

describe('frames', () => {
  const messages = [Uint8Array.of(1, 2, 3), new Uint8Array(), new Uint8Array(300).fill(7)];
  const trailers = trailersFrame([
    ['grpc-status', '5'],
    ['grpc-message', 'gone: a, b'],
  ]);
  const body = joined(...messages.map(messageFrame), trailers);

  it.each([1, 2, 4, 5, 7, 100, 10_000])('are found in chunks of %i bytes', (size) => {
    const parser = new FrameParser(1000);
    const found = [];
    for (let at = 0; at < body.length; at += size) found.push(...parser.push(body.subarray(at, at + size)));
    expect(found.map(({ bytes, isTrailers }) => (isTrailers ? 'trailers' : [...bytes]))).toEqual([
      ...messages.map((bytes) => [...bytes]),
      'trailers',
    ]);
    expect(parser.isPartial).toBe(false);
    const last = readTrailers(found.at(-1)?.bytes ?? new Uint8Array());
    expect(readStatus((name) => last.get(name))).toEqual({ code: 5, message: 'gone: a, b' });
  });

  it('may not be larger than the limit', () => {
    expect(() => new FrameParser(299).push(body)).toThrow(FrameTooLarge);
    expect(() => new FrameParser(1000).push(Uint8Array.of(0, 255, 255, 255, 255))).toThrow(FrameTooLarge);
  });
});

describe('a status', () => {
  it.each(['', 'plain: with, signs / ? # & = + ; @ $', '100 %', 'schön 🙂\n', '%zz'])('keeps the message %j', (message) => {
    const written = writeStatus({ code: 3, message, details: Uint8Array.of(0, 255, 128) });
    expect(Object.values(written).join('')).toMatch(/^[\x20-\x7e]*$/);
    expect(readStatus((name) => written[name])).toEqual({ code: 3, message, details: Uint8Array.of(0, 255, 128) });
  });

  it('escapes only what gRPC demands', () => {
    expect(writeStatus({ code: 5, message: 'no task: a%b' })['grpc-message']).toBe('no task: a%25b');
  });

  it('is absent if there is none', () => {
    expect(readStatus(() => undefined)).toBeUndefined();
  });

  it.each([
    ['99', '%ff: 100 % gr%C3%B6%C3%9fer', { code: 99, message: '�: 100 % größer' }],
    ['1234', 'gone %E2%80', { code: 1234, message: 'gone �' }],
    ['5, 5', 'two', { code: 2, message: 'two' }],
    ['x', 'none', { code: 2, message: 'none' }],
  ])('of the unknown code %s keeps its message, decoded', (code, message, read) => {
    const trailers = new Map(Object.entries({ 'grpc-status': code, 'grpc-message': message }));
    expect(readStatus((name) => trailers.get(name))).toEqual(read);
  });

  it('has a deadline of at most eight digits', () => {
    expect([0.2, 30_000, 99_999_999, 100_000_000].map(timeoutText)).toEqual(['1m', '30000m', '99999999m', '100000S']);
  });
});

describe('the address of a gRPC interface', () => {
  it.each([
    ['agent.example:443', 'http://agent.example/card', 'https://agent.example:443'],
    ['agent.example:50051', 'https://agent.example/card', 'https://agent.example:50051'],
    ['agent.example:50051', 'http://agent.example/card', 'http://agent.example:50051'],
    ['agent.example:50051', undefined, 'https://agent.example:50051'],
    ['localhost:50051', undefined, 'http://localhost:50051'],
    ['[::1]:50051', undefined, 'http://[::1]:50051'],
    ['dns:///agent.example:50051', 'http://agent.example/card', 'http://agent.example:50051'],
    ['grpcs://agent.example', undefined, 'https://agent.example'],
    ['http://127.0.0.1:8080/ignored', 'https://agent.example/card', 'http://127.0.0.1:8080'],
    ['agent.example', undefined, undefined],
    ['file:///etc/passwd', undefined, undefined],
    ['', undefined, undefined],
  ])('%s from %s is %s', (text, card, url) => {
    expect(grpcAddress(text, card)).toBe(url);
  });
});
