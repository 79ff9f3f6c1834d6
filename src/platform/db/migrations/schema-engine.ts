import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaEngine as Engine } from '@prisma/schema-engine-wasm/schema_engine_bg';

const require = createRequire(import.meta.url);

/** Prisma's schema engine on one connection; close it, or its connection stays open for ten seconds. */
export type OpenEngine = { engine: Engine; close(): Promise<void> };

/**
 * Prisma's own schema engine as WebAssembly, connected to `url` as the owner of the schema. It keeps
 * `_prisma_migrations`, so that `prisma migrate deploy` run by hand agrees with what it applied.
 */
export async function openSchemaEngine(url: string, datamodel?: string): Promise<OpenEngine> {
  const SchemaEngine = await loadEngine();
  const pool = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
  const adapter = bindMigrationAwareSqlAdapterFactory(new WholeScripts(pool));
  const datamodels: [string, string][] | undefined = datamodel ? [['schema.prisma', datamodel]] : undefined;
  const engine = await SchemaEngine.new({ datamodels }, () => {}, adapter);
  return {
    engine,
    async close() {
      engine.free();
      await pool.end();
    },
  };
}

/**
 * The adapter cuts a script at every semicolon (7.10), which breaks function bodies and commits statement by
 * statement. One simple query instead: PostgreSQL parses it, and all of it is stored or none.
 */
class WholeScripts extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const connection = await super.connect();
    connection.executeScript = async (script) => {
      await connection.underlyingDriver().query(script);
    };
    return connection;
  }
}

let loaded: Promise<typeof Engine> | undefined;

/** Instantiated once a process: the module takes about a tenth of a second to compile. */
function loadEngine(): Promise<typeof Engine> {
  loaded ??= (async () => {
    const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
    const folder = dirname(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
    const wasm = await readFile(join(folder, 'schema_engine_bg.wasm'));
    const imports = { './schema_engine_bg.js': withoutHolding({ ...bindings }) };
    const { instance } = await WebAssembly.instantiate(wasm, imports);
    bindings.__wbg_set_wasm(instance.exports);
    const start = instance.exports['__wbindgen_start'];
    if (typeof start === 'function') Reflect.apply(start, undefined, []);
    return bindings.SchemaEngine;
  })();
  return loaded;
}

/** The engine's own ten-second lock timer outlives its work; it must not keep the process alive. */
function withoutHolding(imports: Record<string, unknown>): Record<string, unknown> {
  const wrapped = Object.entries(imports).map(([name, value]) => {
    if (!name.startsWith('__wbg_setTimeout')) return [name, value];
    return [name, (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref()];
  });
  return Object.fromEntries(wrapped) as Record<string, unknown>;
}
