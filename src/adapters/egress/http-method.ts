/** The methods that are sent to the outside. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A method of {@link HTTP_METHODS}. */
export type HttpMethod = (typeof HTTP_METHODS)[number];
