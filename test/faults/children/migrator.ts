import { writeSync } from 'node:fs';
import { connect } from '../../../src/engine/adapters/sqlite/database/connection.ts';
import { migrate } from '../../../src/engine/adapters/sqlite/database/schema.ts';
import { NEXT_MIGRATIONS } from '../migrations.ts';

/** Migrates a store to a version that changes every row. The test kills it meanwhile. */
const [path = ''] = process.argv.slice(2);
const db = connect(path, { cacheBytes: 100_000 });
writeSync(1, 'ready\n');
migrate(db, NEXT_MIGRATIONS);
writeSync(1, 'done\n');
db.close();
