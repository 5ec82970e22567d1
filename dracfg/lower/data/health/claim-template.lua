-- A template has no status; each claim made from it has.
return {status = "Healthy", message = "copied for each pod that names it"}
