// Stands in the build for modules that a dependency loads and, as we use it, never calls: `yaml` (Swagger's description from a file) and
// `glob` (static files without a wildcard route). Together they are 1 MB of memory.
export default {};
