// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export {
  applicableTiers,
  bandBounds,
  bandOf,
  defaultTiers,
  elementOfTier,
  gapsBetween,
  gapWarning,
  numberedTiers,
  type Gap,
} from './weight-bands.js';
export { readTable, type Tier } from './tier.js';
