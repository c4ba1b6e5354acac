import { expect, it } from 'vitest';
import { linkPlaceOf, whyNoListener } from './advertise.ts';

it.each([
  [undefined, { shown: '127.0.0.1', host: '127.0.0.1', port: 0 }],
  ['10.0.0.5', { shown: '10.0.0.5', host: '10.0.0.5', port: 0 }],
  ['node-1.example.org:7000', { shown: 'node-1.example.org', host: 'node-1.example.org', port: 7000 }],
  ['[::1]:7000', { shown: '[::1]', host: '::1', port: 7000 }],
])('reads %s', (given, expected) => {
  expect(linkPlaceOf(given)).toEqual(expected);
});

it.each(['http://10.0.0.5:7000', '10.0.0.5:99999', ':7000', '::1', '', 'a b', '10.0.0.5:', '10.0.0.5/x'])('refuses %j', (given) => {
  expect(() => linkPlaceOf(given)).toThrow(`advertise must be HOST or HOST:PORT, as 10.0.0.5 or 10.0.0.5:7000, and not "${given}"`);
});

it.each(['0.0.0.0', '0.0.0.0:7000', '0', '[::]', '[::]:7000', '[0:0:0:0:0:0:0:0]', '[::0.0.0.0]'])(
  'refuses %s, which leads other machines to themselves',
  (given) => {
    expect(() => linkPlaceOf(given)).toThrow('advertise must name one address of this machine that other nodes can reach, as 10.0.0.5');
  },
);

it.each(['0.example.org', '10.0.0.0', '[::1]', '[::ffff:10.0.0.5]', '[fd00::]'])('takes %s', (given) => {
  expect(linkPlaceOf(given).shown).toBe(given);
});

it.each([
  ['EADDRINUSE', 'Stop the other process, or name another port with --advertise HOST:PORT'],
  ['EACCES', 'Name a port from 1024 on'],
  ['EADDRNOTAVAIL', 'Name an address of this machine with --advertise'],
])('says what to type after %s', (code, advice) => {
  expect(whyNoListener(Object.assign(new Error(`listen ${code}`), { code }))).toContain(`listen ${code}. ${advice}`);
});
