import { describe, expect, it } from 'vitest';
import type { StoredArtifact } from '../../../artifacts/service.ts';
import { resolveContent } from './content.ts';

/** Files and expected texts of SAM's own scenarios (tests/integration/scenarios_declarative, embeds/late). */
const FILES: Readonly<Record<string, readonly [string, string]>> = {
  'complex.json': ['application/json', '{"logs":["INFO: Start","WARN: Issue A","ERROR: Fail X","INFO: Mid","ERROR: Fail Y"]}'],
  'products.csv': ['text/csv', 'id,name,status\n1,A,active\n2,B,inactive\n3,C,active'],
  'log.txt': ['text/plain', 'INFO: Start\nERROR: Failed\nINFO: End'],
  'lines.txt': ['text/plain', '1\n2\n3\n4\n5'],
  'arr.json': ['application/json', '{"items":[{"n":"A"},{"n":"B"}]}'],
  'obj.json': ['application/json', '{"a":{"b":"value"}}'],
  'plain.txt': ['text/plain', 'This is not JSON.'],
  'level0.txt': ['text/plain', 'Level0 embeds: «artifact_content:level1.txt>>>format:text»'],
  'level1.txt': ['text/plain', 'Level1 embeds: «artifact_content:level2.txt>>>format:text»'],
  'level2.txt': ['text/plain', 'Deepest content from level2. «math:1+1»'],
  'loop.txt': ['text/plain', 'again «artifact_content:loop.txt»«artifact_content:loop.txt»'],
  'users.json': ['application/json', '[{"id":1,"name":"A","age":30},{"id":2,"name":"B","age":25}]'],
  'data.json': ['application/json', '{"target_artifact_name": "level2.txt"}'],
  'outer.mustache': ['text/mustache', 'Template renders: «artifact_content:{{target_artifact_name}}>>>format:text»'],
  'table.mustache': [
    'text/mustache',
    '<tr>{{#headers}}<th>{{.}}</th>{{/headers}}</tr>{{#data_rows}}<tr>{{#.}}<td>{{.}}</td>{{/.}}</tr>{{/data_rows}}',
  ],
  'list.mustache': ['text/mustache', '<ul>{{#items}}<li>{{name}}</li>{{/items}}{{^items}}none{{/items}}</ul>'],
  'str.mustache': ['text/mustache', 'Content: {{text}}'],
  'picture.png': ['image/png', 'bytes'],
};

const load = async (name: string, version: number | undefined): Promise<StoredArtifact | undefined> => {
  const found = FILES[name];
  if (found === undefined || (version ?? 0) > 0) return undefined;
  const content = new TextEncoder().encode(found[1]);
  return { name, version: 0, uri: `artifact://s/${name}`, mediaType: found[0], bytes: content.length, content };
};

describe('embeds of SAM that quote files', () => {
  it.each([
    [
      'complex.json>>>jsonpath:$.logs[*]>>>grep:ERROR>>>head:1>>>format:text',
      '["INFO: Start","WARN: Issue A","ERROR: Fail X","INFO: Mid","ERROR: Fail Y"]',
    ],
    ['products.csv>>>filter_rows_eq:status:active>>>select_cols:id,name>>>format:csv', 'id,name\n1,A\n3,C'],
    [
      'products.csv>>>select_cols:nope',
      "[Error: Error applying modifier 'select_cols': Column 'nope' not found in data keys: id, name, status]",
    ],
    ['products.csv>>>slice_rows:1:2>>>format:json', '[{"id":"2","name":"B","status":"inactive"}]'],
    ['log.txt>>>grep:WARNING>>>format:text', ''],
    ['log.txt>>>grep:ERROR>>>format:text', 'ERROR: Failed\n'],
    ['log.txt>>>grep:^INFO.*[dD]$', 'INFO: End'],
    ['log.txt>>>grep:(a+)+$', "[Error: Error applying modifier 'grep': Invalid regex pattern '(a+)+$']"],
    ['lines.txt>>>head:3>>>format:text', '1\n2\n3\n'],
    ['lines.txt>>>head:9', '1\n2\n3\n4\n5'],
    ['lines.txt>>>tail:2>>>format:text', '4\n5'],
    ['lines.txt>>>slice_lines:1:3', '2\n3\n'],
    ['lines.txt:0', '1\n2\n3\n4\n5'],
    ['arr.json>>>jsonpath:$.items[*].n>>>format:json', '["A","B"]'],
    ['arr.json>>>jsonpath:$..n>>>format:json', '["A","B"]'],
    ['obj.json>>>jsonpath:$.c>>>format:text', '[]'],
    ['obj.json>>>jsonpath:$.a.b>>>format:text', '["value"]'],
    ['obj.json>>>jsonpath:$.a[?(@.x)]', "[Error: Error applying modifier 'jsonpath': this form of a path is not supported]"],
    ['plain.txt>>>jsonpath:$.a>>>format:text', "[Error: Failed to convert data for modifier 'jsonpath': Failed to parse string as JSON]"],
    ['plain.txt>>>upper:x', "[Error: Unknown modifier prefix: 'upper']"],
    ['plain.txt>>>format:datauri', 'data:text/plain;base64,VGhpcyBpcyBub3QgSlNPTi4='],
    ['level0.txt>>>format:text', 'Level0 embeds: Level1 embeds: Deepest content from level2. 2'],
    ['users.json>>>select_fields:name,email>>>format:json', '[{"name":"A"},{"name":"B"}]'],
    ['users.json>>>jsonpath:$[0]>>>format:json_pretty', '[\n  {\n    "id": 1,\n    "name": "A",\n    "age": 30\n  }\n]'],
    ['data.json>>>apply_to_template:outer.mustache>>>format:text', 'Template renders: Deepest content from level2. 2'],
    [
      'products.csv>>>slice_rows:0:1>>>apply_to_template:table.mustache',
      '<tr><th>id</th><th>name</th><th>status</th></tr><tr><td>1</td><td>A</td><td>active</td></tr>',
    ],
    ['users.json>>>apply_to_template:list.mustache', '<ul><li>A</li><li>B</li></ul>'],
    ['plain.txt>>>apply_to_template:str.mustache', 'Content: This is not JSON.'],
    [
      'plain.txt>>>apply_to_template:no.mustache',
      "[Error: Error applying modifier 'apply_to_template': Template artifact 'no.mustache' (latest) not found.]",
    ],
    ['none.txt', "[Error loading artifact 'none.txt': Artifact 'none.txt' not found (no versions available)]"],
    ['lines.txt:x', "[Error loading artifact 'lines.txt:x': Invalid version format in artifact specifier 'lines.txt:x']"],
  ])('%s is %j', async (expression, expected) => {
    expect(await resolveContent(`Result: «artifact_content:${expression}».`, load)).toEqual([{ text: `Result: ${expected}.` }]);
  });

  it('a file that is not text becomes a part of its own', async () => {
    const raw = Buffer.from('bytes').toString('base64');
    const file = { raw, filename: 'picture.png', mediaType: 'image/png' };
    expect(await resolveContent('before «artifact_content:picture.png» after', load)).toEqual([
      { text: 'before ' },
      file,
      { text: ' after' },
    ]);
    expect(await resolveContent('«artifact_content:picture.png>>>format:datauri»', load)).toEqual([file]);
  });

  it('a file that embeds itself ends at a limit', async () => {
    const [part] = await resolveContent('«artifact_content:loop.txt»', load);
    expect(part?.text).toContain('[Error: Max embed depth exceeded]');
    expect(part?.text).toContain('more than 200 embeds in one text');
  });

  it('metadata is described, other embeds and texts without any stay', async () => {
    const [meta] = await resolveContent('«artifact_meta:plain.txt»', load);
    expect(meta?.text).toMatch(
      /^--- Metadata for artifact 'plain.txt' \(v0\) ---[\s\S]*\*\*Type:\*\* text\/plain[\s\S]*--- End Metadata ---$/,
    );
    expect(await resolveContent('«math:1+1» « »', load)).toEqual([{ text: '«math:1+1» « »' }]);
  });

  it('without a store the text says that there is none', async () => {
    const [part] = await resolveContent('«artifact_content:a.txt»', undefined);
    expect(part?.text).toBe("[Error loading artifact 'a.txt': ArtifactService or session context not available]");
  });
});
