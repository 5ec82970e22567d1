-- Kueue says with the condition Active whether the queue admits workloads.
for _, condition in ipairs(obj.status and obj.status.conditions or {}) do
  if condition.type == "Active" then
    if condition.status == "True" then
      return {status = "Healthy", message = condition.message or ""}
    end
    return {status = "Degraded", message = condition.message or "the queue is not active"}
  end
end
return {status = "Progressing", message = "Kueue has not judged it yet"}
