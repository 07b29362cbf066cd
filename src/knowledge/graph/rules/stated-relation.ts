/** Two phrases of a sentence and what it says of them. */
export interface StatedRelation {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
}

/** What a clause states. */
export interface StatedClause {
  readonly relations: readonly StatedRelation[];
  /** What it is about, also where it denies something; absent where it has no subject. */
  readonly subject?: string | undefined;
}
