import { Validator } from '@seriousme/openapi-schema-validator';

// fastify-openapi-glue validates the contract whenever a service starts. Compiling the schema for that takes 0.3 s of CPU.
// All validators share one compiled schema; node_modules is loaded once per jest worker.
if (!('ajvValidators' in Validator.prototype)) {
  const compiled = {};
  Object.defineProperty(Validator.prototype, 'ajvValidators', {
    get: () => compiled,
    // The constructor assigns an empty object.
    set() {},
  });
}
