import type { Generator } from './generator.js';
import { heyApi, openapiFetch, typescriptFetch } from './typescript.js';
import { oapiCodegen, openapiGeneratorGo } from './go.js';
import { openapiGeneratorPython, openapiPythonClient } from './python.js';
import { openapiGeneratorJava } from './java.js';
import { openapiGeneratorPhp } from './php.js';

export const GENERATORS: Generator[] = [
  heyApi,
  openapiFetch,
  typescriptFetch,
  oapiCodegen,
  openapiGeneratorGo,
  openapiPythonClient,
  openapiGeneratorPython,
  openapiGeneratorJava,
  openapiGeneratorPhp,
];
