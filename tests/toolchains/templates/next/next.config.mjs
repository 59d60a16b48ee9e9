export default { cacheComponents: false };
