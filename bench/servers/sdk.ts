import type { AddressInfo } from 'node:net';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { SDK_CARD, SdkEcho } from './sdk-echo.ts';

/** The baseline with the official SDK, as its documentation serves it: Express, tasks in memory. `chunks=N` streams N chunks. */
const handler = new DefaultRequestHandler(SDK_CARD as never, new InMemoryTaskStore(), new SdkEcho());
const app = express();
app.use('/', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
);
