import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#protocol';
import { legacyMessages } from '../../src/agents/a2ui/legacy.ts';
import { catalogFunction, matches } from '../../src/console/a2ui/functions.ts';
import { pathsMeet, valueAt, withValue } from '../../src/console/a2ui/paths.ts';
import { dataWith, readSurfaces } from '../../src/console/a2ui/surfaces.ts';
import { failedChecks, resolved } from '../../src/console/a2ui/values.ts';

/** A form as the published packages of A2UI 0.9.1 accept it. */
const FORM: readonly JsonObject[] = JSON.parse(readFileSync(new URL('a2ui-form.json', import.meta.url), 'utf8'));
/** 0.8, from the same source. */
const OLD: readonly JsonObject[] = [
  { surfaceUpdate: { surfaceId: 's', components: [{ id: 'r', component: { Text: { text: { literalString: 'Hi' } } } }] } },
  { dataModelUpdate: { surfaceId: 's', contents: [{ key: 'name', valueString: 'Ada' }] } },
  { beginRendering: { surfaceId: 's', root: 'r' } },
];

describe('the messages of A2UI', () => {
  it('make a surface of 0.9.1', () => {
    const { surfaces, unread } = readSurfaces([FORM]);
    expect(unread).toEqual([]);
    expect(surfaces).toHaveLength(1);
    expect(surfaces[0]).toMatchObject({ id: 's1', version: 'v0.9.1', sendsData: true, isOver: false, batch: 0 });
    expect(surfaces[0]?.components.get('n')).toMatchObject({ component: 'TextField', value: { path: '/name' } });
    expect(surfaces[0]?.data).toEqual({ name: 'Ada', rooms: [{ title: 'A1' }, { title: 'B2' }] });
  });

  it('make a surface of 0.8 in the form of 0.9', () => {
    const { surfaces } = readSurfaces([OLD]);
    expect(surfaces[0]).toMatchObject({ id: 's', version: 'v0.8', root: 'r', data: { name: 'Ada' } });
    expect(surfaces[0]?.components.get('r')).toEqual({ id: 'r', component: 'Text', text: 'Hi' });
  });

  it('read back what an agent here writes in 0.8', () => {
    const components = {
      root: { component: 'Column', children: ['pick', 'rows', 'go'], align: 'center' },
      pick: { component: 'ChoicePicker', options: [{ label: 'One', value: '1' }], value: { path: '/p' }, variant: 'mutuallyExclusive' },
      rows: { component: 'List', children: { componentId: 'row', path: '/list' } },
      row: { component: 'Text', text: { path: 'title' }, variant: 'h2' },
      go: { component: 'Button', child: 'row', variant: 'primary', action: { event: { name: 'book', context: { who: { path: '/p' } } } } },
    } as const;
    const data = { p: '1', list: [{ title: 'A' }, { title: 'B' }] };
    const { surfaces } = readSurfaces([legacyMessages({ kind: 'surface', isUpdate: false, id: 's', components, data })]);
    const read = Object.fromEntries(surfaces[0]?.components ?? []);
    expect(read['root']).toEqual({ id: 'root', ...components.root });
    expect(read['rows']).toEqual({ id: 'rows', ...components.rows });
    expect(read['row']).toEqual({ id: 'row', ...components.row });
    expect(read['go']).toEqual({ id: 'go', primary: true, ...components.go });
    expect(read['pick']).toEqual({ id: 'pick', maxAllowedSelections: 1, ...components.pick });
    expect(valueAt(surfaces[0]?.data, '/list/1/title')).toBe('B');
  });

  it('change a surface in place, end it, and begin another one with the same id in a later turn', () => {
    const update = { version: 'v0.9.1', updateDataModel: { surfaceId: 's1', path: '/name', value: 'Bo' } };
    const removal = { version: 'v0.9.1', deleteSurface: { surfaceId: 's1' } };
    expect(readSurfaces([FORM, [update]]).surfaces).toMatchObject([{ batch: 0, data: { name: 'Bo' } }]);
    expect(readSurfaces([FORM, [removal]]).surfaces).toMatchObject([{ batch: 0, isOver: true }]);
    expect(readSurfaces([FORM, FORM]).surfaces).toMatchObject([
      { batch: 0, isOver: true },
      { batch: 1, isOver: false, data: { name: 'Ada' } },
    ]);
    expect(readSurfaces([OLD, OLD]).surfaces).toMatchObject([
      { batch: 0, isOver: true },
      { batch: 1, isOver: false, root: 'r' },
    ]);
    expect(readSurfaces([[...FORM, removal, ...FORM]]).surfaces).toMatchObject([{ isOver: false }]);
  });

  it('of other versions and kinds are left for the reader', () => {
    const messages = [{ version: '1.0', createSurface: { surfaceId: 'x' } }, { version: 'v0.9', sing: {} }, { whatever: 1 }];
    expect(readSurfaces([messages])).toEqual({ surfaces: [], unread: messages.map((message) => ({ batch: 0, message })) });
  });

  it('do not break on nonsense', () => {
    const nonsense: readonly JsonObject[] = [
      { version: 'v0.9', updateComponents: { surfaceId: 's', components: [1, null, { id: 3 }, { id: 'a' }] } },
      { version: 'v0.9', updateDataModel: { surfaceId: 's', path: '/__proto__/x', value: 1 } },
      { surfaceUpdate: { surfaceId: 's', components: 'no' } },
      { dataModelUpdate: { surfaceId: 's', contents: [{ valueMap: 3 }, { key: 'k', valueMap: [{ key: 'k2' }] }] } },
    ];
    const { surfaces } = readSurfaces([nonsense]);
    expect(surfaces[0]?.components.get('a')).toEqual({ id: 'a' });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('the data of a surface', () => {
  it('is read and changed by paths', () => {
    const data = { a: [{ b: 1 }], 'x/y': 2 };
    expect(valueAt(data, '/a/0/b')).toBe(1);
    expect(valueAt(data, '/x~1y')).toBe(2);
    expect(valueAt(data, '/toString')).toBeUndefined();
    expect(withValue(data, '/a/0/c', 3)).toEqual({ a: [{ b: 1, c: 3 }], 'x/y': 2 });
    expect(withValue(data, '/n/m', 3)).toEqual({ ...data, n: { m: 3 } });
    expect(withValue(data, '/a/0', undefined)).toEqual({ ...data, a: [] });
    expect(withValue(data, '/a/99999999', 1)).toEqual(data);
    expect([pathsMeet('/a', '/a/b'), pathsMeet('/', '/x'), pathsMeet('/a/b', '/a'), pathsMeet('/a', '/b')]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('keeps what the user entered until the agent writes there', () => {
    const entered = { path: '/name', value: 'Cy', after: 1 };
    const write = (path: string): JsonObject => ({ version: 'v0.9.1', updateDataModel: { surfaceId: 's1', path, value: 'new' } });
    const dataAfter = (...messages: readonly JsonObject[]) => {
      const [surface] = readSurfaces([[...FORM, ...messages]]).surfaces;
      return surface === undefined ? undefined : dataWith(surface, [entered]);
    };
    expect(dataAfter()).toMatchObject({ name: 'Cy' });
    expect(dataAfter(write('/other'))).toMatchObject({ name: 'Cy', other: 'new' });
    expect(dataAfter(write('/name'))).toMatchObject({ name: 'new' });
  });

  it('gives values, results of functions and failed checks', () => {
    const scope = { data: { name: '', n: 2, rooms: [{ title: 'A1' }] }, item: '/rooms/0' };
    expect(resolved({ path: 'title' }, scope)).toBe('A1');
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the syntax of A2UI
    expect(resolved({ call: 'formatString', args: { value: '${title} of ${/n}, \\${x}' } }, scope)).toBe('A1 of 2, ${x}');
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the syntax of A2UI
    const checks = [{ condition: { call: 'required', args: { value: { path: '/name' } } }, message: 'A name is needed' }];
    expect(failedChecks(checks, scope)).toEqual(['A name is needed']);
    expect(failedChecks(checks, { ...scope, data: { name: 'Ada' } })).toEqual([]);
  });
});

describe('the functions of the catalog', () => {
  const call = (name: string, args: JsonObject) => catalogFunction(name, args, () => '');
  it('check', () => {
    expect([call('email', { value: 'a@b.c' }), call('email', { value: 'a' })]).toEqual([true, false]);
    expect([call('length', { value: 'abc', max: 2 }), call('length', { value: 'abc', min: 3 })]).toEqual([false, true]);
    expect([call('numeric', { value: '7', min: 1, max: 9 }), call('numeric', { value: 'x' })]).toEqual([true, false]);
    expect([call('and', { values: [true, false] }), call('or', { values: [true, false] }), call('not', { value: true })]).toEqual([
      false,
      true,
      false,
    ]);
    expect(call('unknown', {})).toBeUndefined();
  });

  it('format', () => {
    expect(call('formatDate', { value: '2026-11-15', format: "yyyy-MM-dd 'at' HH:mm" })).toBe('2026-11-15 at 00:00');
    expect(call('formatDate', { value: 'soon', format: 'yyyy' })).toBe('soon');
    expect(call('pluralize', { value: 1, one: 'room', other: 'rooms' })).toBe('room');
    expect(call('pluralize', { value: 3, one: 'room', other: 'rooms' })).toBe('rooms');
    expect(call('formatCurrency', { value: 3, currency: 'nonsense' })).toBe('3');
  });

  it('run a pattern of the agent only if it ends soon', () => {
    expect([matches('ab12', '^[a-z]+\\d+$'), matches('12', '^[a-z]+\\d+$')]).toEqual([true, false]);
    expect([matches('+49 30', '^\\+?[0-9 ]+$'), matches('x', '^(yes|no)$')]).toEqual([true, false]);
    // Each of these would keep a page busy for minutes.
    const text = `${'a'.repeat(60)}!`;
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^((a+)b?)+$', '^(?:a?a)*$', 'a*a*a*a*a*a*a*a*b$', '(a+)\\1+$'])
      expect(matches(text, pattern)).toBe(true);
  });
});
