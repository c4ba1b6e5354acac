import { dialectNamed } from '../dialects.ts';
import type { ProtoCodec } from './codec.ts';
import { protoCodec } from './codec.ts';
import { A2AService } from './generated/a2a_v10_pb.ts';

/** A2A 1.0: its JSON is the ProtoJSON of its messages, and its JSON-RPC methods have the names of those of gRPC. */
export const CODEC_V10: ProtoCodec = protoCodec({
  dialect: dialectNamed('v10'),
  service: A2AService,
  methods: dialectNamed('v10').methods,
});
