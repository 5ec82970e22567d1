-- The API server checks the types of a policy's expressions after it was written.
local status = obj.status or {}
if (status.observedGeneration or 0) < obj.metadata.generation then
  return {status = "Progressing", message = "the expressions have not been checked yet"}
end
local warnings = status.typeChecking and status.typeChecking.expressionWarnings or {}
if #warnings > 0 then
  return {status = "Degraded", message = warnings[1].fieldRef .. ": " .. warnings[1].warning}
end
return {status = "Healthy", message = "the expressions fit the types"}
