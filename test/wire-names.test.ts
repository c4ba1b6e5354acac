import { describe, expect, it } from 'vitest';
import { wireNameProblems } from '../scripts/wire-names.ts';

describe('the check of wire names', () => {
  it.each([
    ["if (binding === 'GRPC') return [];", ['1: names GRPC']],
    ["const [dialect] = useState('v10');", ['1: names v10']],
    ["type Name = 'JSONRPC' | 'HTTP+JSON';", ['1: names JSONRPC', '1: names HTTP+JSON']],
    ['const known = text => /^(jsonrpc|http\\+json)$/i.test(text);', ['1: names ^(jsonrpc|http\\+json)$']],
    ["\nif (dialect.traits.historyDefault === 'none') skip();", ['2: reads a trait']],
    ['const { historyDefault } = dialect.traits;', ['1: reads a trait']],
  ])('finds %s', (code, problems) => {
    expect(wireNameProblems('src/client/x.ts', code)).toEqual(problems);
  });

  it.each([
    ["return text.endsWith('/a2a/jsonrpc') || /\\/a2a\\/jsonrpc$/.test(text);"],
    ["// cards write 'JSONRPC'\nconst envelope = { jsonrpc: '2.0' };"],
    ['return behave(service, dialect.traits);'],
    ['/** The id of a dialect, such as `v10`. */'],
  ])('accepts %s', (code) => {
    expect(wireNameProblems('src/client/x.ts', code)).toEqual([]);
  });

  it('accepts the names of a binding in its folder, and of dialects in theirs', () => {
    expect(wireNameProblems('src/bindings/rest/binding.ts', "protocolBinding: 'HTTP+JSON',")).toEqual([]);
    expect(wireNameProblems('src/protocol/dialects/v03/card.ts', "const id = 'v03';")).toEqual([]);
    expect(wireNameProblems('src/bindings/openai/read.ts', "protocolBinding: 'HTTP+JSON',")).toHaveLength(1);
  });
});
