import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaEngine as Engine } from '@prisma/schema-engine-wasm/schema_engine_bg';

const require = createRequire(import.meta.url);

/** Prisma's schema engine with one connection. Call `close`, otherwise the connection stays open for ten seconds. */
export type OpenEngine = { engine: Engine; close(): Promise<void> };

/**
 * Opens Prisma's schema engine (WebAssembly), connected to `url` as the owner of the schema. It compares the data model, and
 * reads `_prisma_migrations` as `prisma migrate deploy` does.
 */
export async function openSchemaEngine(url: string, datamodel?: string): Promise<OpenEngine> {
  const SchemaEngine = await loadEngine();
  const pool = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
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

let loaded: Promise<typeof Engine> | undefined;

/** Instantiates the engine once per process, because compiling the module takes about 0.1 s. */
function loadEngine(): Promise<typeof Engine> {
  loaded ??= (async () => {
    const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
    const folder = dirname(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
    const wasm = await readFile(join(folder, 'schema_engine_bg.wasm'));
    const imports = { './schema_engine_bg.js': unrefTimers({ ...bindings }) };
    const { instance } = await WebAssembly.instantiate(wasm, imports);
    bindings.__wbg_set_wasm(instance.exports);
    const start = instance.exports['__wbindgen_start'];
    if (typeof start === 'function') Reflect.apply(start, undefined, []);
    return bindings.SchemaEngine;
  })();
  return loaded;
}

/** Unrefs the engine's timers: its lock timer of ten seconds must not keep the process alive. */
function unrefTimers(imports: Record<string, unknown>): Record<string, unknown> {
  const wrapped = Object.entries(imports).map(([name, value]) => {
    if (!name.startsWith('__wbg_setTimeout')) return [name, value];
    return [name, (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref()];
  });
  return Object.fromEntries(wrapped) as Record<string, unknown>;
}
