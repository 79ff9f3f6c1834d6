import type { AnyValidateFunction } from 'ajv/dist/types/index.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

// Every service that a test starts compiles the schemas of the requests and responses that it sees. All services of a jest
// worker share the compiled schemas: equal schemas, options, keywords and formats compile to equal validators.
const compiledOfKind = new Map<string, Map<string, AnyValidateFunction>>();
const { compile } = Ajv2020.prototype;

if (!Object.hasOwn(Ajv2020.prototype, 'compile'))
  Object.defineProperty(Ajv2020.prototype, 'compile', {
    value(this: Ajv2020, schema: object): AnyValidateFunction {
      const compiled = compiledOf(this);
      const text = JSON.stringify(schema);
      const validate = compiled.get(text) ?? compile.call(this, schema);
      compiled.set(text, validate);
      return validate;
    },
  });

function compiledOf({ opts, RULES, formats }: Ajv2020): Map<string, AnyValidateFunction> {
  const { uriResolver: _, ...options } = opts;
  const kind = JSON.stringify([options, Object.keys(RULES.keywords), Object.keys(formats)]);
  const compiled = compiledOfKind.get(kind) ?? new Map<string, AnyValidateFunction>();
  compiledOfKind.set(kind, compiled);
  return compiled;
}
