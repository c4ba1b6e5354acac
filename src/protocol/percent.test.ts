import { expect, it } from 'vitest';
import { percentDecoded } from './percent.ts';

it.each([
  ['', ''],
  ['plain, with signs: + & =', 'plain, with signs: + & ='],
  ['gr%C3%B6%c3%9fer %F0%9F%99%82', 'größer 🙂'],
  ['100 % of %zz%2', '100 % of %zz%2'],
  ['%25C3%25A4', '%C3%A4'],
  ['%ff%C3%A4 and %C3', '�ä and �'],
  ['%E4%B8%8', '�%8'],
  ['%EF%BB%BFx%0A', '﻿x\n'],
])('decodes %j to %j', (text, decoded) => {
  expect(percentDecoded(text)).toBe(decoded);
});
