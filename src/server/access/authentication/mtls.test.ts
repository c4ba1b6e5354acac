import { describe, expect, it } from 'vitest';
import { namesIn } from './mtls.ts';

describe('names in a certificate', () => {
  it('are URI, DNS and email names', () => {
    expect(namesIn('URI:spiffe://acme.example/planner, DNS:planner.acme.example, IP Address:10.0.0.1, email:a@b.example')).toEqual([
      'URI:spiffe://acme.example/planner',
      'DNS:planner.acme.example',
      'email:a@b.example',
    ]);
    expect(namesIn(undefined)).toEqual([]);
  });

  it('are empty if one name could be read as several (CVE-2021-44532)', () => {
    expect(namesIn('DNS:"evil.example, DNS:planner.acme.example"')).toEqual([]);
    expect(namesIn('URI:"http://evil.example/\\u002c DNS:planner.acme.example", DNS:evil.example')).toEqual([]);
  });
});
