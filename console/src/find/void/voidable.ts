/** A package as the pages show it. */
export type Voidable = {
  package_id: string;
  house_number: string;
  tracking_number: string;
  status: string;
  manifest_number: string | null;
};
