import type { components } from '../../../../generated/contract.js';

export type ManifestStatus = components['schemas']['ManifestStatus'];
