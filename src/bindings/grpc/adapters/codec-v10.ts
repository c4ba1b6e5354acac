import { isObject } from '#protocol';
import { dialectNamed } from '../dialect-named.ts';
import type { ProtoCodec, ProtoForm } from './codec.ts';
import { protoCodec } from './codec.ts';
import { A2AService } from './generated/a2a_v10_pb.ts';

const v10 = dialectNamed('v10');

/** A2A 1.0: its JSON is the ProtoJSON of its messages, and its methods have the names of its JSON-RPC methods. */
export const FORM_V10: ProtoForm = {
  dialect: v10,
  service: A2AService,
  methods: v10.methods,
  received: (operation, json) => (operation === 'list' && isObject(json) && json['pageSize'] === 0 ? withoutPageSize(json) : json),
};

export const CODEC_V10: ProtoCodec = protoCodec(FORM_V10);

/** Clients that fill in every field, such as that of Go, send a page size of 0 and mean the default. */
function withoutPageSize({ pageSize: _, ...rest }: Readonly<Record<string, unknown>>): unknown {
  return rest;
}
