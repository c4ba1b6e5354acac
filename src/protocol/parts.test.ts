import { describe, expect, it } from 'vitest';
import type { Part } from './parts.ts';
import {
  base64ToBytes,
  bytesToBase64,
  createDataPart,
  createFilePartFromBytes,
  createFilePartFromUri,
  createTextPart,
  getBytesFromFilePart,
  getDataFromDataPart,
  getUriFromFilePart,
  isDataPart,
  isFilePart,
  isTextPart,
  partKind,
} from './parts.ts';

describe('creating parts', () => {
  it('adds no member that was not given', () => {
    expect(createTextPart('hi')).toEqual({ text: 'hi' });
    expect(Object.keys(createTextPart('hi'))).toEqual(['text']);
    expect(createTextPart('hi', { language: 'en' })).toEqual({ text: 'hi', metadata: { language: 'en' } });
    expect(Object.keys(createDataPart(null))).toEqual(['data']);
    expect(createDataPart([1], { schema: 's' })).toEqual({ data: [1], metadata: { schema: 's' } });
    expect(Object.keys(createFilePartFromUri('artifact://s/f'))).toEqual(['url']);
  });

  it('of a file, by reference and by bytes', () => {
    const about = { name: 'file.pdf', mediaType: 'application/pdf', metadata: { version: 3 } };
    const named = { filename: 'file.pdf', mediaType: 'application/pdf', metadata: { version: 3 } };
    expect(createFilePartFromUri('artifact://session/file.pdf', about)).toEqual({ url: 'artifact://session/file.pdf', ...named });
    expect(createFilePartFromBytes(new Uint8Array([1, 2, 3]), about)).toEqual({ raw: 'AQID', ...named });
    expect(createFilePartFromBytes('AQID')).toEqual({ raw: 'AQID' });
  });
});

describe('reading parts', () => {
  const parts: readonly Part[] = [{ text: '' }, { raw: '' }, { url: '' }, { data: null }];

  it('distinguishes the kinds even if the content is empty', () => {
    expect(parts.map(partKind)).toEqual(['text', 'raw', 'url', 'data']);
    expect(parts.map(isTextPart)).toEqual([true, false, false, false]);
    expect(parts.map(isFilePart)).toEqual([false, true, true, false]);
    expect(parts.map(isDataPart)).toEqual([false, false, false, true]);
    expect(() => partKind({} as Part)).toThrow('unhandled case');
  });

  it('returns the data, the URL or the bytes', () => {
    expect(getDataFromDataPart(createDataPart({ valid: true }))).toEqual({ valid: true });
    expect(getUriFromFilePart(createFilePartFromUri('artifact://s/f'))).toBe('artifact://s/f');
    expect(getUriFromFilePart(createFilePartFromBytes('AQID'))).toBeUndefined();
    expect(getBytesFromFilePart(createFilePartFromBytes('AQID'))).toEqual(new Uint8Array([1, 2, 3]));
    expect(getBytesFromFilePart(createFilePartFromUri('artifact://s/f'))).toBeUndefined();
  });
});

describe('base64', () => {
  it.each([0, 1, 2, 3, 0x7fff, 0x8000, 0x8001, 200_000])('of %d bytes equals Node’s, and decodes to the same bytes', (length) => {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 31) % 256);
    const text = bytesToBase64(bytes);
    expect(text === Buffer.from(bytes).toString('base64')).toBe(true);
    expect(Buffer.compare(base64ToBytes(text), bytes)).toBe(0);
  });

  it('of a view leaves out the rest of its buffer', () => {
    const around = new Uint8Array([9, 1, 2, 3, 9]);
    expect(bytesToBase64(around.subarray(1, 4))).toBe('AQID');
  });
});
